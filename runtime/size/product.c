/* A product that opens an artifact, continues a training from its checkpoint for one step, and saves it: all of the
   runtime's core is in it. Its size is measured; it is not run. */
#include <stdio.h>
#include <string.h>

#include "runtime/api/ferrule.h"

int main(int argc, char** argv) {
  FerruleProgram* program = NULL;
  FerruleSession* session = NULL;
  FerruleTrainingPosition position;
  FerruleTensor input, output;
  FerruleStatus* status;
  memset(&position, 0, sizeof(position));
  position.struct_size = sizeof(position);
  memset(&input, 0, sizeof(input));
  input.struct_size = sizeof(input);
  output = input;
  if (argc < 4) return 2;
  status = ferrule_program_open(argv[1], NULL, &program);
  if (status == NULL) status = ferrule_session_create(program, NULL, &session);
  if (status == NULL) status = ferrule_session_load_checkpoint(session, argv[2], &position);
  if (status == NULL) status = ferrule_session_run(session, argv[3], &input, 1, &output, 1);
  if (status == NULL) status = ferrule_session_save_checkpoint(session, argv[2], &position);
  puts(ferrule_status_message(status));
  return ferrule_status_code(status) == kFerruleOk ? 0 : 1;
}

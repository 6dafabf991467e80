/* What the app calls: from Kotlin or Java by JNI, whose functions would only pass these on. */
#ifndef FERRULE_RUNTIME_EXAMPLES_ANDROID_NET_H_
#define FERRULE_RUNTIME_EXAMPLES_ANDROID_NET_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Net Net;

/* Opens an artifact that is in memory, as AAsset_getBuffer gives it for an asset that is stored uncompressed
   (`noCompress "fer"` in Gradle): its weights are used there, so the asset stays open as long as the net. Null, and the
   reason in `message`, on failure. */
__attribute__((visibility("default"))) Net* net_open(const void* artifact, uint64_t byte_size, char* message,
                                                     uint64_t message_size);
/* y = predict(x), four floats each. 0, or 1 and the reason in `message`. */
__attribute__((visibility("default"))) int net_predict(Net* net, const float* x, float* y, char* message,
                                                       uint64_t message_size);
__attribute__((visibility("default"))) void net_close(Net* net);

#ifdef __cplusplus
}
#endif

#endif /* FERRULE_RUNTIME_EXAMPLES_ANDROID_NET_H_ */

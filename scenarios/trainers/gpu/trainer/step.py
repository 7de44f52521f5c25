"""One step on a GPU: a kernel reads and writes an array in its memory. Needs nothing but the driver.

Prints a line of JSON with what the driver shows, and exits with 1 if the results are wrong.
Origin: the driver's interface, "CUDA Driver API" (https://docs.nvidia.com/cuda/cuda-driver-api).
"""
import ctypes
import glob
import json
import os
import subprocess
import sys
import time
import uuid

COUNT = 1 << 20
THREADS = 256

# values[i] = 2 * values[i] + 1
KERNEL = b"""
.version 6.0
.target sm_30
.address_size 64
.visible .entry step(.param .u64 values, .param .u32 count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [values];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;
  st.global.f32 [%rd4], %f2;
done:
  ret;
}
"""


class Driver:
    """The functions of libcuda. A failure is a RuntimeError that names the function and the code."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def __getattr__(self, name):
        def call(*words):
            code = getattr(self.library, name)(*words)
            if code != 0:
                raise RuntimeError("%s: CUDA's error %d" % (name, code))
        return call


def devices(cuda):
    """The UUIDs of the GPUs, as nvidia-smi writes them."""
    count = ctypes.c_int()
    cuda.cuDeviceGetCount(ctypes.byref(count))
    found = []
    for index in range(count.value):
        device, raw = ctypes.c_int(), (ctypes.c_ubyte * 16)()
        cuda.cuDeviceGet(ctypes.byref(device), index)
        cuda.cuDeviceGetUuid(raw, device)
        found.append("GPU-" + str(uuid.UUID(bytes=bytes(raw))))
    return found


def compute(cuda):
    """Runs the kernel on the first GPU. Returns whether all results are right."""
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.cuCtxSetCurrent(context)
    cuda.cuModuleLoadData(ctypes.byref(module), KERNEL)
    cuda.cuModuleGetFunction(ctypes.byref(function), module, b"step")
    values = (ctypes.c_float * COUNT)(*range(COUNT))
    size, memory = ctypes.sizeof(values), ctypes.c_uint64()
    cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size))
    cuda.cuMemcpyHtoD_v2(memory, values, ctypes.c_size_t(size))
    count = ctypes.c_uint32(COUNT)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(count))
    cuda.cuLaunchKernel(function, COUNT // THREADS, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    cuda.cuCtxSynchronize()
    cuda.cuMemcpyDtoH_v2(values, memory, ctypes.c_size_t(size))
    return all(value == 2 * index + 1 for index, value in enumerate(values))


def listed():
    """What `nvidia-smi -L` lists here, or why it does not."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
        return done.stdout.strip().splitlines()
    except OSError as error:
        return [str(error)]


def look():
    """What this replica has of GPUs."""
    seen = {"listed": listed(), "files": sorted(glob.glob("/dev/nvidia[0-9]*")),
            "visible": os.environ.get("CUDA_VISIBLE_DEVICES"), "devices": [], "is_right": None}
    try:
        cuda = Driver()
        cuda.cuInit(0)
        seen["devices"] = devices(cuda)
        seen["is_right"] = compute(cuda)
    except (OSError, RuntimeError) as error:
        seen["error"] = str(error)
    return seen


def hold_until(file):
    """Keeps the memory in use until the file exists."""
    open(file + ".awaited", "w").close()
    while not os.path.exists(file):
        time.sleep(0.05)


def main():
    seen = look()
    print("GPU " + json.dumps(seen), flush=True)
    if len(sys.argv) == 3 and sys.argv[1] == "--hold":
        hold_until(sys.argv[2])
    sys.exit(1 if seen["is_right"] is False else 0)


if __name__ == "__main__":
    main()

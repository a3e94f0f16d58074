//! Sets what the linker needs for a native module of Node.

fn main() {
    napi_build::setup();
}

#!/bin/sh
# Types from the contract, then JavaScript. Needs node_modules, and no network.
set -eu
cd "$(dirname "$0")"
rm -rf src/contract dist
node node_modules/@grpc/proto-loader/build/bin/proto-loader-gen-types.js \
  --longs=Number --enums=String --defaults --oneofs --grpcLib=@grpc/grpc-js \
  --includeDirs=proto --outDir=src/contract memrig/v1/memory_adapter.proto
node node_modules/typescript/bin/tsc

// Serves the memory on MEMRIG_LISTEN until SIGTERM.

import { join } from "node:path";

import { loadPackageDefinition, Server, ServerCredentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { HealthImplementation } from "grpc-health-check";

import type { ProtoGrpcType } from "./contract/memory_adapter";
import { Memory } from "./memory";
import { serviceOf } from "./service";

const NAME = "memrig.v1.MemoryAdapter";
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** The rig waits five seconds after SIGTERM (protocol §2.5). */
const PATIENCE_MS = 4000;

function load(): ProtoGrpcType {
  const definition = loadSync("memrig/v1/memory_adapter.proto", {
    includeDirs: [join(__dirname, "..", "proto")],
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  return loadPackageDefinition(definition) as unknown as ProtoGrpcType;
}

function main(): void {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  const health = new HealthImplementation({ "": "NOT_SERVING", [NAME]: "NOT_SERVING" });
  const say = (state: "SERVING" | "NOT_SERVING") =>
    ["", NAME].forEach((name) => health.setStatus(name, state));
  health.addToServer(server);
  server.addService(load().memrig.v1.MemoryAdapter.service, serviceOf(new Memory()));

  const address = process.env["MEMRIG_LISTEN"] || "127.0.0.1:50051";
  server.bindAsync(address, ServerCredentials.createInsecure(), (error) => {
    if (error) {
      console.error(error);
      process.exit(1);
    }
    say("SERVING"); // a memory that has to open a store says so when it is open
    console.error(`serving on ${address}`);
  });

  const end = () => {
    say("NOT_SERVING");
    server.tryShutdown(() => process.exit(0));
    setTimeout(() => process.exit(1), PATIENCE_MS).unref();
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
}

main();

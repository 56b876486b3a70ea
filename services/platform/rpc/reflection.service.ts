import { existsSync, readFileSync } from 'node:fs';
import {
  createRegistry,
  type DescFile,
  fromBinary,
  type MessageInitShape,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { FileDescriptorProtoSchema, SourceCodeInfoSchema } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { file_google_rpc_error_details } from '../../../proto/gen/google/rpc/error_details_pb.js';
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from '../../../proto/gen/grpc/reflection/v1/reflection_pb.js';
import { bindService, type ServiceBinding } from './service-binding.ts';

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse'];

const GENERATED = new URL('../../../proto/gen/', import.meta.url);

/**
 * grpc.reflection.v1 for the given services and itself, so that grpcurl and buf curl need no proto files. It also
 * describes the details of errors, so that clients can decode them, and includes the comments of the proto files.
 */
export function reflectionService(bindings: readonly ServiceBinding[]): ServiceBinding {
  const described = [...bindings.map(({ service }) => service), ServerReflection];
  const files = withImports([...described.map(({ file }) => file), file_google_rpc_error_details]);
  const registry = createRegistry(...files.values());
  const services = described.map(({ typeName }) => ({ name: typeName }));
  return bindService(ServerReflection, {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        const messageResponse = answer(request, files, registry, services);
        yield { validHost: request.host, originalRequest: request, messageResponse };
      }
    },
  });
}

function answer(
  { messageRequest }: ServerReflectionRequest,
  files: ReadonlyMap<string, DescFile>,
  registry: Registry,
  services: { name: string }[],
): Answer {
  switch (messageRequest.case) {
    case 'listServices':
      return { case: 'listServicesResponse', value: { service: services } };
    case 'fileByFilename':
      return fileAnswer(files.get(messageRequest.value));
    case 'fileContainingSymbol':
      return fileAnswer(fileOfSymbol(messageRequest.value, registry));
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = messageRequest.value;
      const extended = registry.getMessage(containingType);
      return fileAnswer(extended && registry.getExtensionFor(extended, extensionNumber)?.file);
    }
    case 'allExtensionNumbersOfType': {
      const extensionNumber = extensionNumbersOf(messageRequest.value, registry);
      return {
        case: 'allExtensionNumbersResponse',
        value: { baseTypeName: messageRequest.value, extensionNumber },
      };
    }
    case undefined:
      return notFound('the request is empty');
    default:
      return messageRequest satisfies never;
  }
}

/** The file of a type, an extension or a service, or of a member of one (`package.Service.Method`). */
function fileOfSymbol(symbol: string, registry: Registry): DescFile | undefined {
  const container = symbol.slice(0, symbol.lastIndexOf('.'));
  return (registry.get(symbol) ?? registry.get(container))?.file;
}

function extensionNumbersOf(typeName: string, registry: Registry): number[] {
  return [...registry].flatMap((desc) =>
    desc.kind === 'extension' && desc.extendee.typeName === typeName ? [desc.number] : [],
  );
}

function fileAnswer(file: DescFile | undefined): Answer {
  if (!file) return notFound('not served here');
  const fileDescriptorProto = [...withImports([file]).values()].map(encoded);
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

/** A file in binary form with its comments. */
const encoded = (file: DescFile): Uint8Array => toBinary(FileDescriptorProtoSchema, withSourceInfo(file));

/** Generated code has no comments, so they are in a separate file next to it. Files of npm packages have none. */
function withSourceInfo({ proto }: DescFile): DescFile['proto'] {
  const path = new URL(proto.name.replace(/\.proto$/, '_source_info.txt'), GENERATED);
  if (!existsSync(path)) return proto;
  const bytes = base64Decode(readFileSync(path, 'utf8').trim());
  return { ...proto, sourceCodeInfo: fromBinary(SourceCodeInfoSchema, bytes) };
}

const notFound = (errorMessage: string): Answer => ({
  case: 'errorResponse',
  value: { errorCode: Code.NotFound, errorMessage },
});

/** Files and all their imports, by import name. */
function withImports(files: readonly DescFile[], found = new Map<string, DescFile>()): Map<string, DescFile> {
  for (const file of files) {
    if (found.has(file.proto.name)) continue;
    found.set(file.proto.name, file);
    withImports(file.dependencies, found);
  }
  return found;
}

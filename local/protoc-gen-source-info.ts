import { readFileSync } from 'node:fs';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  type FileDescriptorProto,
  type SourceCodeInfo_Location,
  SourceCodeInfoSchema,
} from '@bufbuild/protobuf/wkt';

/**
 * A protoc plugin that buf.gen.yaml runs. For `a/b.proto` it writes `a/b_source_info.txt`: the file's SourceCodeInfo in
 * base64, with the comments, which protoc-gen-es leaves out. Reflection serves it.
 */
const request = fromBinary(CodeGeneratorRequestSchema, readFileSync(0));
const generated = new Set(request.fileToGenerate);
const response = create(CodeGeneratorResponseSchema, {
  file: request.protoFile
    .filter(({ name }) => generated.has(name))
    .map((file) => ({
      name: file.name.replace(/\.proto$/, '_source_info.txt'),
      content: `${base64Encode(toBinary(SourceCodeInfoSchema, declarationsOf(file)))}\n`,
    })),
  supportedFeatures: BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL),
});
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));

function declarationsOf({ sourceCodeInfo }: FileDescriptorProto) {
  return create(SourceCodeInfoSchema, { location: sourceCodeInfo?.location.filter(isDeclaration) ?? [] });
}

/**
 * Clients order declarations by their location, including those without a comment. Paths of declarations have an even
 * length.
 */
function isDeclaration({ path, leadingComments, leadingDetachedComments }: SourceCodeInfo_Location): boolean {
  return path.length % 2 === 0 || leadingComments !== '' || leadingDetachedComments.length > 0;
}

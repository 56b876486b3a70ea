import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  AddEvidenceRequestSchema,
  GetEvidenceResponse,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';

type Message = MessageInitShape<typeof AddEvidenceRequestSchema>;

const PDF_END = '\n%%EOF\n';

/** A file of this size with the beginning and end of a PDF. */
export function aPdf(bytes = 100, filling = 'x'): Buffer {
  const pdf = Buffer.alloc(bytes, filling);
  pdf.write('%PDF-1.7\n');
  pdf.write(PDF_END, bytes - PDF_END.length);
  return pdf;
}

/** A file of this size with the beginning and end of a JPEG. */
export function aJpeg(bytes = 100): Buffer {
  const jpeg = Buffer.alloc(bytes, 'x');
  jpeg.write('ffd8ff', 'hex');
  jpeg.write('ffd9', bytes - 2, 'hex');
  return jpeg;
}

/** The messages that add a file. */
export async function* fileMessages(
  first: Message,
  content: Buffer,
  chunkBytes = 256 * 1024,
): AsyncGenerator<Message> {
  yield first;
  for (let offset = 0; offset < content.length; offset += chunkBytes) {
    yield { chunk: new Uint8Array(content.subarray(offset, offset + chunkBytes)) };
  }
}

/** A file with its content. */
export async function readFile(messages: AsyncIterable<GetEvidenceResponse>) {
  const read = await Array.fromAsync(messages);
  return { evidence: read[0]?.evidence, content: Buffer.concat(read.map(({ chunk }) => chunk)) };
}

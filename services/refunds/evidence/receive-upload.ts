import { createHash } from 'node:crypto';
import { create, isFieldSet } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type AddEvidenceRequest,
  AddEvidenceRequestSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { MAX_EVIDENCE_BYTES } from '../../contracts/refunds/evidence-limits.ts';
import { aborted, type FieldFault, invalidArgument } from '../../platform/errors.ts';
import { requireNoFaults } from '../../platform/request-faults.ts';
import { evidenceTooLarge } from './evidence-file.ts';

/** Bounds the work for a file that comes in tiny chunks: 5 MB in chunks of 2.5 KiB. */
const MAX_MESSAGES = 2_000;

/** The messages of an upload, which can be read once. */
export type UploadMessages = AsyncGenerator<AddEvidenceRequest>;

/** A complete upload. */
export interface Upload {
  /** The idempotent request: the first message, with the hash of the whole content instead of its chunk. */
  readonly request: AddEvidenceRequest;
  readonly content: Buffer;
}

/** How long an upload may take. */
interface UploadLimits {
  readonly totalMs: number;
  /** Between two messages. */
  readonly idleMs: number;
}

/**
 * Yields the messages of an upload while it stays within its limits and its caller waits. ABORTED (UPLOAD_TOO_SLOW),
 * CANCELED.
 */
export async function* withDeadline(
  messages: AsyncIterable<AddEvidenceRequest>,
  caller: AbortSignal,
  { totalMs, idleMs }: UploadLimits,
): UploadMessages {
  const iterator = messages[Symbol.asyncIterator]();
  // One promise per message: a race with a promise that outlives the message would keep it in memory.
  let next = Promise.withResolvers<IteratorResult<AddEvidenceRequest>>();
  let stoppedBy: Error | undefined;
  const stop = (reason: Error) => {
    stoppedBy = reason;
    next.reject(reason);
  };
  const cancel = () => stop(ConnectError.from(caller.reason, Code.Canceled));
  const timer = setTimeout(() => stop(uploadTooSlow('the file', totalMs)), totalMs);
  const idleTimer = setTimeout(() => stop(uploadTooSlow('the next message', idleMs)), idleMs);
  caller.addEventListener('abort', cancel, { once: true });
  next.promise.catch(() => undefined);
  if (caller.aborted) cancel();
  try {
    for (;;) {
      if (stoppedBy) throw stoppedBy;
      next = Promise.withResolvers();
      iterator.next().then(next.resolve, next.reject);
      const { value, done } = await next.promise;
      if (done) return;
      yield value;
      idleTimer.refresh();
    }
  } finally {
    clearTimeout(timer);
    clearTimeout(idleTimer);
    caller.removeEventListener('abort', cancel);
    // Not awaited: it ends only after the next message, which may never come.
    iterator.return?.().catch(() => undefined);
  }
}

const uploadTooSlow = (what: string, timeoutMs: number) =>
  aborted('UPLOAD_TOO_SLOW', `${what} did not arrive within ${timeoutMs / 1_000} seconds`);

const { merchantId, environment, idempotencyKey, fileName } = AddEvidenceRequestSchema.field;
const REQUIRED_FIRST = [merchantId, environment, idempotencyKey, fileName];

/** The first message of an upload. INVALID_ARGUMENT if it lacks a required field. */
export async function firstMessage(messages: UploadMessages): Promise<AddEvidenceRequest> {
  const { value } = await messages.next();
  const first: AddEvidenceRequest = value ?? create(AddEvidenceRequestSchema);
  const missing = REQUIRED_FIRST.filter((field) => !isFieldSet(first, field));
  requireNoFaults(missing.map(({ name: field }) => ({ field, must: 'is required in the first message' })));
  return first;
}

/**
 * Collects the rest of an upload. Copies every chunk: it is a view of its message, which may be much larger.
 * INVALID_ARGUMENT, EVIDENCE_TOO_LARGE (at the first byte too many), EVIDENCE_HASH_MISMATCH.
 */
export async function receiveUpload(first: AddEvidenceRequest, rest: UploadMessages): Promise<Upload> {
  // The operating system allocates pages only as they are written, so a small file takes little memory.
  const buffer = Buffer.allocUnsafeSlow(MAX_EVIDENCE_BYTES);
  buffer.set(first.chunk);
  let size = first.chunk.length;
  let messages = 1;
  for await (const message of rest) {
    messages += 1;
    requireChunkOnly(message);
    if (messages > MAX_MESSAGES) throw invalidChunk(`the file must come in at most ${MAX_MESSAGES} messages`);
    if (size + message.chunk.length > MAX_EVIDENCE_BYTES) throw evidenceTooLarge();
    buffer.set(message.chunk, size);
    size += message.chunk.length;
  }
  const content = buffer.subarray(0, size);
  const contentSha256 = new Uint8Array(createHash('sha256').update(content).digest());
  if (first.contentSha256 && !Buffer.from(contentSha256).equals(first.contentSha256)) {
    throw invalidArgument('EVIDENCE_HASH_MISMATCH', 'content_sha256: must be the SHA-256 of the content', {
      field: 'content_sha256',
    });
  }
  return { request: { ...first, chunk: new Uint8Array(), contentSha256 }, content };
}

function requireChunkOnly(message: AddEvidenceRequest): void {
  const faults: FieldFault[] = AddEvidenceRequestSchema.fields
    .filter((field) => field.name !== 'chunk' && isFieldSet(message, field))
    .map(({ name: field }) => ({ field, must: 'belongs in the first message only' }));
  if (message.chunk.length === 0)
    faults.push({ field: 'chunk', must: 'is required after the first message' });
  requireNoFaults(faults);
}

const invalidChunk = (fault: string) =>
  invalidArgument('INVALID_ARGUMENT', `chunk: ${fault}`, { field: 'chunk' });

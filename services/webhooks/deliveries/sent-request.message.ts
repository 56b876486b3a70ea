import { timestampDate } from '@bufbuild/protobuf/wkt';
import type {
  Attempt,
  AttemptTiming,
  HttpHeader,
  SentRequest,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { webhookHeaders } from '../attempts/send-attempt.ts';
import { attemptMessage } from './delivery.message.ts';
import type { FullAttemptReadRow, TargetReadRow } from './delivery.queries.ts';

/** The parts of a delivery's requests that do not come from its attempts. */
export interface RequestParts {
  readonly eventId: string;
  /** Undefined once it has been deleted. */
  readonly body: string | undefined;
  readonly target: TargetReadRow | undefined;
}

/** The message of an attempt with its request and the headers of the response. */
export function fullAttemptMessage(row: FullAttemptReadRow, parts: RequestParts): Attempt {
  return {
    ...attemptMessage(row),
    request: requestMessage(row, parts),
    responseHeaders: (row.response_headers || undefined)?.split('\n').map(headerOf) ?? [],
    timing: row.timing_ms === null ? undefined : timingMessage(row.timing_ms),
  };
}

/** Everything but the signature follows from the event and the time of the attempt. */
function requestMessage(
  { signature, started_at, generation }: FullAttemptReadRow,
  { eventId, body, target }: RequestParts,
): SentRequest | undefined {
  if (signature === null) return undefined;
  const url = target && generation >= target.url_generation ? target.url : '';
  const headers = Object.entries({
    ...(url !== '' && { host: new URL(url).host }),
    connection: 'keep-alive',
    ...webhookHeaders({ eventId, startedAt: timestampDate(started_at) }, signature),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  });
  return {
    $typeName: 'payments.webhooks.v1.SentRequest',
    url,
    headers: headers.map(([name, value]) => header(name, value)),
  };
}

function timingMessage([dns, connect, tls, firstByte]: readonly (number | null)[]): AttemptTiming {
  return {
    $typeName: 'payments.webhooks.v1.AttemptTiming',
    dnsMs: dns ?? undefined,
    connectMs: connect ?? undefined,
    tlsMs: tls ?? undefined,
    firstByteMs: firstByte ?? undefined,
  };
}

function headerOf(line: string): HttpHeader {
  const end = line.indexOf(': ');
  return header(line.slice(0, end), line.slice(end + 2));
}

const header = (name: string, value: string): HttpHeader => ({
  $typeName: 'payments.webhooks.v1.HttpHeader',
  name,
  value,
});

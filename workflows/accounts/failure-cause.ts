/** Why deliveries of a subscription fail, as its `error_reason` tells it. */
export type FailureCause =
  | { readonly kind: 'HTTP'; readonly status: number }
  | { readonly kind: 'FAILURE'; readonly name: string }
  | { readonly kind: 'TOO_OLD' }
  | { readonly kind: 'UNKNOWN' };

const HTTP = /\bHTTP (\d{3})$/;
const FAILURE = /\bwith ([A-Z_]+)$/;

/** Reads the sentence that the webhooks service keeps: `a delivery failed 10 times, at last with HTTP 500`. */
export function failureCause(errorReason: string): FailureCause {
  const status = HTTP.exec(errorReason)?.[1];
  if (status !== undefined) return { kind: 'HTTP', status: Number(status) };
  const name = FAILURE.exec(errorReason)?.[1];
  if (name !== undefined) return { kind: 'FAILURE', name };
  return { kind: errorReason.includes('still open') ? 'TOO_OLD' : 'UNKNOWN' };
}

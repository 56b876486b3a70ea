import type { components } from './payments-api.ts';

/** The body of every error of the API. */
export type Problem = components['schemas']['Problem'];

/** The codes that this version of the client knows. The API may add codes: handle others by their status. */
export type ErrorCode = NonNullable<Problem['code']>;

/** The base class of this package's errors, except for mistakes in how it is called, which are TypeErrors. */
export class MerchantPaymentsError extends Error {
  override readonly name: string = 'MerchantPaymentsError';
}

/** The API refused a request, or could not carry it out. */
export class ApiError extends MerchantPaymentsError {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The code to branch on; undefined if something other than the API responded, such as a proxy. */
  readonly code: ErrorCode | undefined;
  /** For people: what is wrong with the request, by the name of the field at fault, and what is allowed. */
  readonly detail: string;
  /** To quote to support. */
  readonly requestId: string | undefined;
  /** URL of the documentation of the code. */
  readonly type: string | undefined;
  /** How long the API asks to wait before the request is repeated. */
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, problem: Partial<Problem> | undefined, retryAfterSeconds?: number) {
    const { status } = response;
    const detail = problem?.detail ?? `${originOf(response)} answered ${status} without an API error.`;
    const requestId = problem?.requestId ?? response.headers.get('request-id') ?? undefined;
    super(`${detail} (${[problem?.code ?? status, requestId].filter(Boolean).join(', ')})`);
    this.status = status;
    this.code = problem?.code;
    this.detail = detail;
    this.requestId = requestId;
    this.type = problem?.type;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No complete response arrived: the connection failed, or it took too long. `cause` has the reason. */
export class ConnectionError extends MerchantPaymentsError {
  override readonly name = 'ConnectionError';
}

/** A request that claims to be a webhook was not signed with any of the secrets within the tolerance: reject it. */
export class WebhookVerificationError extends MerchantPaymentsError {
  override readonly name = 'WebhookVerificationError';
}

function originOf({ url }: Response): string {
  return URL.canParse(url) ? new URL(url).origin : 'The server';
}

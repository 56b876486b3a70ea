import { type CallOptions, Code, ConnectError } from '@connectrpc/connect';
import { Counter } from 'prom-client';
import {
  type SubmitPayoutResponse,
  SubmitPayoutResponseSchema,
  type SubmitRefundResponse,
  SubmitRefundResponseSchema,
} from '../proto/gen/payments/providers/v1/providers_pb.js';
import { metrics } from '../services/platform/process/telemetry.ts';
import { messageFaults } from '../services/platform/rpc/message-faults.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../services/platform/tenant.ts';

/** The deadline of a call, as promised in providers.proto. Shorter than that of the activities that make it. */
const CALL: CallOptions = { timeoutMs: 20_000 };

const SCHEMAS = { refund: SubmitRefundResponseSchema, payout: SubmitPayoutResponseSchema } as const;

const submissions = new Counter({
  name: 'payments_provider_submissions_total',
  help: 'Calls to payment providers by result: accepted, refused, or error, which includes timeouts.',
  labelNames: ['provider', 'environment', 'result'],
  registers: [metrics],
});
// Starts every series at 0, so that the first call is an increase.
for (const provider of Object.keys(SCHEMAS)) {
  for (const environment of ENVIRONMENTS) {
    for (const result of ['accepted', 'refused', 'error'])
      submissions.inc({ provider, environment, result }, 0);
  }
}

type Response = SubmitRefundResponse | SubmitPayoutResponse;
type AnswerOf<R extends Response> = Extract<R['result'], { case: string }>;

/**
 * A provider did not answer a submission as providers.proto requires. Temporary, whatever code the provider returned.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
}

/** Which provider is called, for which environment. */
export interface Submission {
  readonly provider: keyof typeof SCHEMAS;
  readonly environment: EnvironmentName;
}

/** Makes one call to a provider and counts its result. Throws a ProviderError unless the answer is valid. */
export async function callProvider<R extends Response>(
  { provider, environment }: Submission,
  call: (options: CallOptions) => Promise<R>,
): Promise<AnswerOf<R>> {
  try {
    const response = await call(CALL);
    const { result } = validated(provider, response);
    submissions.inc({ provider, environment, result: result.case });
    return result;
  } catch (error) {
    submissions.inc({ provider, environment, result: 'error' });
    if (!(error instanceof ConnectError)) throw error;
    throw new ProviderError(`the ${provider} provider answered ${Code[error.code]}: ${error.rawMessage}`);
  }
}

function validated<R extends Response>(
  provider: Submission['provider'],
  response: R,
): R & { result: AnswerOf<R> } {
  if (!hasResult(response)) throw new ProviderError(`the ${provider} provider answered without a result`);
  const [fault] = messageFaults(SCHEMAS[provider], response);
  if (!fault) return response;
  throw new ProviderError(`the ${provider} provider's answer is not valid: ${fault.field} ${fault.must}`);
}

const hasResult = <R extends Response>(response: R): response is R & { result: AnswerOf<R> } =>
  response.result.case !== undefined;

import createClient from 'openapi-fetch';
import type { components, paths } from './payments-api.ts';

type Problem = components['schemas']['Problem'];

/** The payments API, typed by the OpenAPI document that it serves. */
export const payments = createClient<paths>({
  baseUrl: process.env.PAYMENTS_URL!,
  headers: { Authorization: `Bearer ${process.env.PAYMENTS_KEY}` },
});

/** An error of the API, thrown. */
class PaymentsError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail} (${problem.requestId})`);
    this.problem = problem;
  }
}

/** The body of a success; throws a PaymentsError for any other answer. */
export function bodyOf<Data>(answer: { data?: Data; error?: Problem }): Data {
  if (answer.data === undefined) throw new PaymentsError(answer.error!);
  return answer.data;
}

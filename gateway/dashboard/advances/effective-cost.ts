import type { AdvanceQuote } from '../../../proto/gen/payments/advances/v1/advances_pb.js';

const DAYS_PER_YEAR = 365;
const MONTHS_PER_YEAR = 12;
const ITERATIONS = 100;

type Quote = Pick<AdvanceQuote, 'netAmountMinor'> & {
  readonly installments: readonly { readonly amountMinor: bigint; readonly days: number }[];
};

/**
 * The total effective cost (CET) of an advance that is paid today, as compound rates a month and a year: the rate at which
 * the covered installments, discounted over their days in years of 365 days, are worth the net amount.
 */
export function effectiveCost({ netAmountMinor, installments }: Quote): {
  readonly monthly: number;
  readonly yearly: number;
} {
  const net = Number(netAmountMinor);
  const worth = (rate: number) =>
    installments.reduce(
      (sum, { amountMinor, days }) => sum + Number(amountMinor) * Math.exp(-rate * days),
      0,
    );
  const first = Math.min(...installments.map(({ days }) => days));
  // Continuous rates a day: at the upper one even the nearest installment alone would be worth no more than the net amount.
  let [low, high] = [0, Math.log(worth(0) / net) / first];
  for (let iteration = 0; iteration < ITERATIONS; iteration += 1) {
    const middle = (low + high) / 2;
    if (worth(middle) > net) low = middle;
    else high = middle;
  }
  return {
    monthly: Math.expm1((low * DAYS_PER_YEAR) / MONTHS_PER_YEAR),
    yearly: Math.expm1(low * DAYS_PER_YEAR),
  };
}

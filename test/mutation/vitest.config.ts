import { defineConfig } from 'vitest/config';

/** The tests of the pure money rules alone: without a database, and with fewer sequences, once per mutant. */
export default defineConfig({
  test: {
    isolate: false,
    testTimeout: 60_000,
    env: { FC_RUNS: '20' },
    include: [
      'test/services/funds/{allocation,holds/holds,sales/installment,sales/sale-schedule}.test.ts',
      'test/services/funds/releases/{business-days,release-rows}.test.ts',
      'test/services/funds/funds-rules.property.test.ts',
      'test/services/refunds/{refund-case,refund-case.property,payments/payment-facts}.test.ts',
      'test/services/advances/advance-{quote,request}.test.ts',
    ],
  },
});

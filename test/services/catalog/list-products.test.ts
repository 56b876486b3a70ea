import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { productList } from './product-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('catalog', statements);
});
afterAll(() => harness.close());

describeList('ListProducts', () => productList(harness));

describePlans(() => productList(harness), statements, [['', 'product_newest']]);

import { afterAll, beforeAll } from 'vitest';
import type { TestHouse } from '../../support/house.ts';
import { describeList, describePlans, startListHouse } from '../../support/list-suite.ts';
import { productList } from './product-list.ts';

let house: TestHouse;
const statements: string[] = [];
beforeAll(async () => {
  house = await startListHouse('catalog', statements);
});
afterAll(() => house.close());

describeList('ListProducts', () => productList(house));

describePlans(() => productList(house), statements, [['', 'product_newest']]);

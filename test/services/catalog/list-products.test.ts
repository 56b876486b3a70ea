import { createClient } from '@connectrpc/connect';
import {
  PriceType,
  ProductService,
  ProductStatus,
  ProductType,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { newWrite, type TestHarness } from '../../support/harness.ts';
import { testList } from '../../support/list-suite.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../support/list-walk.ts';

testList(
  'ListProducts',
  'catalog',
  productList,
  [
    ['', 'product_newest'],
    ['status', 'product_status'],
  ],
  'catalog.product',
);

/** The list of products, for the list suite. */
function productList(harness: TestHarness): ListSubject {
  const products = createClient(ProductService, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: { status: { values: ['DRAFT', 'ACTIVE', 'ARCHIVED'] } },
    truth: `select id as key, ${newestFirst('created_at')}, status
      from catalog.product where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const write = () => newWrite(tenant);
      const activate = async (productId: string) => {
        const price = { amountMinor: 100n, type: PriceType.ONE_TIME, maxInstallments: 1 };
        await products.createPrice({ ...write(), ...price, productId });
        await products.activateProduct({ ...write(), productId });
      };
      return {
        tenant,
        list: ({ filters: { status } = {}, limit = 0, after = '' }) => {
          const fits = status && { status: ProductStatus[status as keyof typeof ProductStatus] };
          const request = { ...tenant, ...fits, pageSize: limit, pageToken: after };
          return rpcPage(products.listProducts(request), (answer) => answer.products.map(({ id }) => id));
        },
        async insert(place) {
          const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
          const { product } = await products.createProduct({ ...write(), name: 'Course', ...kind });
          await placeRow(harness, 'catalog.product', 'created_at', product!.id, place);
        },
        async change({ key, status }) {
          if (status === 'DRAFT') await activate(key);
          if (status === 'ACTIVE') await products.archiveProduct({ ...write(), productId: key });
        },
      };
    },
  };
}

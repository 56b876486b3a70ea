import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  type CreateOfferRequestSchema,
  type CreatePriceRequestSchema,
  PaymentMethod,
  PriceType,
  ProductService,
  ProductType,
  type UpdateProductRequest,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { newTenant, newWrite } from '../../support/harness.ts';

type ContentField = 'name' | 'description' | 'refundWindowDays' | 'imageAssetId' | 'imageUrl';

/** Short calls to the catalog of one new merchant. */
export function catalogMerchant(transport: Transport) {
  const client = createClient(ProductService, transport);
  const tenant = newTenant();
  const write = () => newWrite(tenant);
  const of = (productId: string) => ({ ...write(), productId });
  const merchant = {
    client,
    tenant,
    write,
    draft: async () => {
      const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
      return (await client.createProduct({ ...write(), name: 'Course', ...kind })).product!;
    },
    get: async (productId: string) => (await client.getProduct({ ...tenant, productId })).product!,
    activate: async (productId: string) => (await client.activateProduct(of(productId))).product!,
    archive: async (productId: string) => (await client.archiveProduct(of(productId))).product!,
    update: async (
      productId: string,
      paths: string[],
      values: Partial<Pick<UpdateProductRequest, ContentField>> = {},
    ) => (await client.updateProduct({ ...of(productId), updateMask: { paths }, ...values })).product!,
    price: async (productId: string, terms: MessageInitShape<typeof CreatePriceRequestSchema> = {}) => {
      const fixed = { amountMinor: 5_000n, type: PriceType.ONE_TIME, maxInstallments: 1 };
      return (await client.createPrice({ ...of(productId), ...fixed, ...terms })).price!;
    },
    retirePrice: async (priceId: string) => (await client.retirePrice({ ...write(), priceId })).product!,
    offer: async (priceId: string, terms: MessageInitShape<typeof CreateOfferRequestSchema> = {}) => {
      const page = { name: 'Launch', checkoutUrl: 'https://shop.example/launch' };
      const ways = { paymentMethods: [PaymentMethod.CARD], maxInstallments: 1 };
      return (await client.createOffer({ ...write(), priceId, ...page, ...ways, ...terms })).offer!;
    },
    retireOffer: async (offerId: string) => (await client.retireOffer({ ...write(), offerId })).product!,
    /** A product in this state, with one price unless it is a draft. */
    async inState(state: 'DRAFT' | 'ACTIVE' | 'ARCHIVED') {
      const { id } = await merchant.draft();
      if (state === 'DRAFT') return id;
      await merchant.price(id);
      await merchant.activate(id);
      if (state === 'ARCHIVED') await merchant.archive(id);
      return id;
    },
  };
  return merchant;
}

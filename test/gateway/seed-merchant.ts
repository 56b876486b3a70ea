import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { PriceType, ProductService, ProductType } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService, SaleMethod } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type OpenRefundCaseRequestSchema,
  RefundCaseService,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { daysAgo } from '../support/ago.ts';
import { newWrite } from '../support/harness.ts';

/** Data of one merchant in one environment, written through the services' own RPCs. */
export function seedMerchant(transport: Transport, merchantId: string, environment: Environment) {
  const tenant = { merchantId, environment };
  const write = () => newWrite(tenant);
  const refunds = createClient(RefundCaseService, transport);
  const products = createClient(ProductService, transport);
  const funds = createClient(FundsService, transport);
  const advances = createClient(AdvanceService, transport);
  return {
    /** A case for the whole amount of a payment made yesterday. */
    async refundCase(given: MessageInitShape<typeof OpenRefundCaseRequestSchema> = {}) {
      const { refundCase } = await refunds.openRefundCase({
        ...write(),
        paymentIntentId: randomUUID(),
        amountMinor: 100n,
        initiator: RefundInitiator.MERCHANT,
        reason: 'broken',
        paidAmountMinor: given.amountMinor ?? 100n,
        paidAt: daysAgo(1),
        window: { case: 'refundWindowDays', value: 30 },
        ...given,
      });
      return refundCase!;
    },
    async product(amountMinor = 100n) {
      const { product } = await products.createProduct({
        ...write(),
        name: 'Course',
        productType: ProductType.ONE_TIME,
        refundWindowDays: 7,
      });
      const productId = product!.id;
      const price = { type: PriceType.ONE_TIME, maxInstallments: 1, productId, amountMinor };
      await products.createPrice({ ...write(), ...price });
      return productId;
    },
    /** A card sale made now, with monthly installments from thirty days ahead. */
    async sale(grossAmountMinor: bigint, installments: number) {
      const method = installments === 0 ? SaleMethod.INSTANT_TRANSFER : SaleMethod.CARD;
      await funds.recordSale({
        ...write(),
        saleId: randomUUID(),
        method,
        grossAmountMinor,
        feesAmountMinor: 0n,
        installments: Math.max(installments, 1),
      });
    },
    async advance(maxAmountMinor?: bigint) {
      const { quote } = await advances.quoteAdvance({ ...write(), maxAmountMinor });
      const { advanceRequest } = await advances.requestAdvance({ ...write(), quoteId: quote!.id });
      return advanceRequest!;
    },
  };
}

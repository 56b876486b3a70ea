import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import { amountColumn, tenantColumns, timestampColumn } from '../platform/database/tenant-columns.ts';
import type { PaymentMethodName, PriceInterval, PriceType, ProductStatus, ProductType } from './product.ts';

export const ProductEntity = defineEntity({
  name: 'Product',
  tableName: 'product',
  schema: 'catalog',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    name: p.string(),
    description: p.text().nullable(),
    productType: p.string().$type<ProductType>(),
    status: p.string().$type<ProductStatus>(),
    refundWindowDays: p.integer(),
    imageAssetId: p.uuid().nullable(),
    imageUrl: p.text().nullable(),
    createdAt: timestampColumn(),
    updatedAt: timestampColumn(),
    archivedAt: timestampColumn().nullable(),
  },
});

export const PriceEntity = defineEntity({
  name: 'Price',
  tableName: 'price',
  schema: 'catalog',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    productId: p.uuid(),
    amountMinor: amountColumn(),
    type: p.string().$type<PriceType>(),
    interval: p.string().$type<PriceInterval>().nullable(),
    intervalCount: p.integer().nullable(),
    trialDays: p.integer().nullable(),
    maxInstallments: p.integer(),
    createdAt: timestampColumn(),
    retiredAt: timestampColumn().nullable(),
  },
});

export const OfferEntity = defineEntity({
  name: 'Offer',
  tableName: 'offer',
  schema: 'catalog',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    productId: p.uuid(),
    priceId: p.uuid(),
    name: p.string(),
    checkoutUrl: p.text(),
    paymentMethods: p.array<PaymentMethodName>(),
    maxInstallments: p.integer(),
    startsAt: timestampColumn(),
    endsAt: timestampColumn().nullable(),
    createdAt: timestampColumn(),
    retiredAt: timestampColumn().nullable(),
  },
});

export type ProductRow = InferEntity<typeof ProductEntity>;
export type PriceRow = InferEntity<typeof PriceEntity>;
export type OfferRow = InferEntity<typeof OfferEntity>;

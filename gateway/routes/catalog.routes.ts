import {
  type Offer,
  PaymentMethod,
  type Price,
  PriceInterval,
  PriceType,
  type Product,
  ProductStatus,
  ProductType,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { enumName } from '../../services/platform/enum-name.ts';
import { environmentName } from '../../services/platform/tenant.ts';
import { callFor } from '../clients.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { jsonTimestamp, optionalTimestamp } from '../http/json-timestamp.ts';
import { operation } from './operation.ts';
import { productSchema } from './product.schema.ts';

export function catalogRoutes(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.get('/v1/products/:id', operation(access, productSchema), async (request) => {
    const { product } = await clients.products.getProduct(
      { ...request.caller.tenant, productId: request.params.id.toLowerCase() },
      callFor(request),
    );
    return productJson(product!);
  });
}

function productJson(product: Product) {
  return {
    id: product.id,
    name: product.name,
    description: product.description,
    environment: environmentName(product.environment),
    productType: enumName(ProductType, product.productType),
    status: enumName(ProductStatus, product.status),
    refundWindowDays: product.refundWindowDays,
    imageAssetId: product.imageAssetId,
    imageUrl: product.imageUrl,
    createdAt: jsonTimestamp(product.createdAt!),
    updatedAt: jsonTimestamp(product.updatedAt!),
    archivedAt: optionalTimestamp(product.archivedAt),
    prices: product.prices.map(priceJson),
    offers: product.offers.map(offerJson),
  };
}

function priceJson(price: Price) {
  return {
    id: price.id,
    currency: price.currency as 'BRL',
    amountMinor: price.amountMinor,
    type: enumName(PriceType, price.type),
    interval: price.interval === undefined ? undefined : enumName(PriceInterval, price.interval),
    intervalCount: price.intervalCount,
    trialDays: price.trialDays,
    maxInstallments: price.maxInstallments,
    createdAt: jsonTimestamp(price.createdAt!),
  };
}

function offerJson(offer: Offer) {
  return {
    id: offer.id,
    priceId: offer.priceId,
    name: offer.name,
    checkoutUrl: offer.checkoutUrl,
    paymentMethods: offer.paymentMethods.map((method) => enumName(PaymentMethod, method)),
    maxInstallments: offer.maxInstallments,
    startsAt: jsonTimestamp(offer.startsAt!),
    endsAt: optionalTimestamp(offer.endsAt),
  };
}

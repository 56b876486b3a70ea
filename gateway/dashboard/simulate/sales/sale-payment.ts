import { v5 as uuidv5 } from 'uuid';

const NAMESPACE = '4b1f6a52-8f0e-4c63-9d5a-3f0f7c1de9a4';

/** The payment id of a simulated sale, derived from the sale's id because the services do not record it. */
export const paymentOf = (saleId: string): string => uuidv5(saleId, NAMESPACE);

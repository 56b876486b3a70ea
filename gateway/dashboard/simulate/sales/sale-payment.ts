import { v5 as uuidv5 } from 'uuid';

const NAMESPACE = '4b1f6a52-8f0e-4c63-9d5a-3f0f7c1de9a4';

/** The payment of a simulated sale, made up of its id: nobody records which payment a sale is of. */
export const paymentOf = (saleId: string): string => uuidv5(saleId, NAMESPACE);

/** The reason of a request that is refused automatically, as the API and webhooks tell it. The dashboard translates it. */
export const DUE_REASON = 'The date of a covered installment came before the payout.';

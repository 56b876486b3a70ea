/** Sent to one subscription when it is created, reactivated or gets another URL, or as a test; it cannot be subscribed to or published. */
export const PING_TYPE = 'webhook.ping.v1';

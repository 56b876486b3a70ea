/** The migrated database that test databases are cloned from. */
export const TEMPLATE = 'payments_template';

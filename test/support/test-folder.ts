/** The variable with the folder of a test run, which is deleted when it ends. Vitest ends its workers without `exit` events. */
export const TEST_FOLDER = 'PAYMENTS_TEST_FOLDER';

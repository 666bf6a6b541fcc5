/** The currency of the platform. All amounts are whole cents. */
export const CURRENCY = 'EUR' as const

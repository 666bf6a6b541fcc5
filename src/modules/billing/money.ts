/** The one currency of the platform; all amounts are whole cents of it. */
export const CURRENCY = 'EUR' as const

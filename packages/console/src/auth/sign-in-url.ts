/** Where a sign-in begins that ends at an address of the console. */
export const signInUrl = (returnTo: string) => `/auth/login?${new URLSearchParams({ return_to: returnTo })}`

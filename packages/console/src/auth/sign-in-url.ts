/** Returns the URL of a sign-in that ends at a page of the console. */
export const signInUrl = (returnTo: string) => `/auth/login?${new URLSearchParams({ return_to: returnTo })}`

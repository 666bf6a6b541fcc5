/** Returns the address if it is http or https. User input may contain `javascript:` addresses. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
}

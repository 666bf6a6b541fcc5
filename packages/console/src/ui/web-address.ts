/** The address, if a browser may be sent there: http or https. Others' texts may hold anything, `javascript:` too. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
}

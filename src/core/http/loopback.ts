/** Returns whether a host name can only be the local machine. RFC 6761 includes every name under `localhost`. */
export function isLoopback(hostname: string): boolean {
  return /^(([a-z0-9-]+\.)*localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}

/** Whether a host name can only mean the machine itself; names under `localhost` do by their standard, RFC 6761. */
export function isLoopback(hostname: string): boolean {
  return /^(([a-z0-9-]+\.)*localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}

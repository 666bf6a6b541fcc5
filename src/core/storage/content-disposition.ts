/** Characters of a file name that every client shows as they are (RFC 6266, appendix D). */
const PLAIN = /^[\w .()+-]+$/

/** Returns the header value that makes a client save a response under a name (RFC 6266). */
export function contentDisposition(fileName: string, type: 'attachment' | 'inline' = 'attachment'): string {
  const name = fileName.replace(/[\p{Cc}/\\]/gu, '_').toWellFormed()
  if (PLAIN.test(name)) return `${type}; filename="${name}"`
  const fallback = name.replace(/[^\w .()+-]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${type}; filename="${fallback}"; filename*=UTF-8''${encoded}`
}

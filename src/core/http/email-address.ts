import { domainToASCII } from 'node:url'
import { z } from 'zod'

const LONGEST = 254
const LONGEST_LOCAL = 64
const PROBLEM = 'must be one e-mail address, such as ada@example.com'

/**
 * A dot-atom of RFC 5322 with the letters of every script (RFC 6531). It allows no quotes, blanks or invisible
 * characters.
 */
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
/** Rejects labels that begin or end with a hyphen, which Punycode would hide. */
const DOMAIN = /^(?!-)(?!.*(\.-|-\.|-$))[\p{L}\p{M}\p{N}.-]+$/u
const ASCII_DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/
const NOT_ASCII = /[^\p{ASCII}]/u

/** A trimmed e-mail address in any script, within the length limit of mail servers. */
export const email = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(LONGEST, PROBLEM)
  .normalize('NFC')
  .refine(isAddress, PROBLEM)
  .meta({ format: 'idn-email' })

function isAddress(text: string): boolean {
  const [local = '', domain = '', ...rest] = text.split('@')
  if (rest.length > 0 || !LOCAL.test(local) || !DOMAIN.test(domain)) return false
  if (Buffer.byteLength(local) > LONGEST_LOCAL || Buffer.byteLength(text) > LONGEST) return false
  const ascii = domainToASCII(domain)
  return ascii.length <= 253 && ASCII_DOMAIN.test(ascii)
}

/** Returns whether the address requires a mail server with SMTPUTF8: its local part is not ASCII. */
export const needsSmtpUtf8 = (address: string): boolean => NOT_ASCII.test(localOf(address))

/** Returns the address in ASCII, its domain in Punycode; undefined when it has no such form. */
export function asciiAddress(address: string): string | undefined {
  if (needsSmtpUtf8(address)) return undefined
  return `${localOf(address)}@${domainToASCII(address.slice(address.lastIndexOf('@') + 1))}`
}

const localOf = (address: string): string => address.slice(0, address.lastIndexOf('@'))

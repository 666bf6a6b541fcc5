import { randomInt } from 'node:crypto'
import type { Secrets } from '../../core/secrets.ts'

const PURPOSE = 'pairing-code'
/** Letters and digits without those that look alike: 0 and O, 1 and I. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/** 50 bits: far more than anyone can try within the ten minutes of a code. */
const LENGTH = 10

/** Matches a code in the spelling of a user: also with blanks, and in lower case. */
export const SPELLED_CODE = /^[\s-]*(?:[2-9A-HJ-NP-Za-hj-np-z][\s-]*){10}$/

/** Returns a random pairing code, such as `7KQ4M-XW9PD`. */
export function generatePairingCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)])
  return `${characters.slice(0, LENGTH / 2).join('')}-${characters.slice(LENGTH / 2).join('')}`
}

/** Returns the keyed hash of a code, independent of its spelling. */
export const hashPairingCode = (secrets: Secrets, code: string): string =>
  secrets.sign(PURPOSE, code.replace(/[\s-]/g, '').toUpperCase())

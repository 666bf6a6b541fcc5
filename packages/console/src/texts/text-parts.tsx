import { Fragment, type ReactNode } from 'react'
import { type TextKey, t } from './texts.ts'

/** `t` for a key that is a parameter. */
export const readText = t as (key: TextKey, values: Readonly<Record<string, string>>) => string

/** Encloses the name of a part. No text contains this character. */
const MARK = '\u0000'

/**
 * Returns the text of a key with elements in the places of its `{{names}}`: translators keep whole sentences, and each language has
 * its own order of words.
 */
export function textParts(key: TextKey, parts: Readonly<Record<string, ReactNode>>): ReactNode {
  const marks = Object.fromEntries(Object.keys(parts).map((name) => [name, `${MARK}${name}${MARK}`]))
  const pieces = readText(key, marks).split(MARK)
  // Names of parts are at odd positions.
  return pieces.map((piece, index) => {
    const content = index % 2 === 1 ? parts[piece] : piece
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text have a fixed order
    return <Fragment key={index}>{content}</Fragment>
  })
}

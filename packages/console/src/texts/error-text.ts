import { t } from './texts.ts'

/** `t` for keys that contain codes: the English catalogue does not have them. */
const read = t as (key: string) => string

/** Returns the text of an error code in the viewer's language; undefined in English and for codes without a translation. */
function translation(code: string): string | undefined {
  const key = `errors.${code}`
  const text = read(key)
  return text === key ? undefined : text
}

/**
 * Returns the text of an error in the viewer's language, by the code of the REST API. In English, and for codes whose messages
 * name values that only the server knows, it is the message of the server.
 */
export function errorText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return (code !== undefined && translation(code)) || error.message
}

import Bourne from '@hapi/bourne'
import { bodyParser } from '@koa/bodyparser'
import { hasTooManyEntries, isNestedTooDeep, MAX_FRAME_DEPTH } from '@wheelhouse/protocol'
import type { Middleware } from 'koa'
import { AppError, badRequest } from '../errors/errors.ts'
import { TEXT_TYPES } from './endpoint.ts'

/** The size limit of a body after decompression. */
const JSON_LIMIT = '256kb'
/** The size limit of a session description. That of a browser with ten codecs has 10 kB. */
const MAX_TEXT_CHARACTERS = 64 * 1024
/** Names of a JSON body. Parsing and checking one costs far more than the characters of it: the largest schema has fewer than 1,000. */
const MAX_NAMES = 2_000
/** Entries of objects and arrays: room for 6,000 ids, which fill a body. */
const MAX_ENTRIES = 10_000

/** The type of JSON of identity providers that provision users (RFC 7644, section 3.1). */
export const SCIM_TYPE = 'application/scim+json'

/** The type of a form, which pages read themselves. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

const readText = bodyParser({
  enableTypes: ['text'],
  parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  extendTypes: { text: ['application/json', SCIM_TYPE, FORM_TYPE, ...TEXT_TYPES] },
  textLimit: JSON_LIMIT,
  encoding: 'utf-8',
})

/**
 * Reads the body of a request: texts and forms as they are sent, and JSON parsed after a look at its depth and its number of entries.
 * @throws 400, 413
 */
export const readBody: Middleware = async (ctx, next) => {
  await readText(ctx, async () => {})
  const text: unknown = ctx.request.body
  if (typeof text === 'string') {
    if (ctx.request.is('json', SCIM_TYPE)) ctx.request.body = parseJson(text)
    else if (text.length > MAX_TEXT_CHARACTERS && ctx.request.is(...TEXT_TYPES))
      throw new AppError(413, 'payload_too_large', 'The request body is too large. Send less.')
  }
  await next()
}

/** Parses the text of a JSON body; an empty one is an empty object. @throws 400 */
function parseJson(text: string): unknown {
  if (text === '') return {}
  if (isNestedTooDeep(text))
    throw badRequest(`The request body is nested deeper than ${MAX_FRAME_DEPTH} levels`)
  if (hasTooManyEntries(text, { names: MAX_NAMES, entries: MAX_ENTRIES }))
    throw badRequest(`The request body has more than ${MAX_NAMES} names or ${MAX_ENTRIES} entries`)
  try {
    if (!/^\s*[[{]/.test(text)) throw new SyntaxError('neither an object nor an array')
    return Bourne.parse(text) // refuses __proto__
  } catch (cause) {
    throw new AppError(400, 'invalid_request', 'The request body is not valid JSON.', { cause })
  }
}

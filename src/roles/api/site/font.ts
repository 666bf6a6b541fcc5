import { readFile } from 'node:fs/promises'
import type { Middleware } from 'koa'
import { notAllowed } from '../../../core/errors/errors.ts'
import { FONT_ADDRESS } from '../../../core/http/site-theme.ts'
import { createStaticContent } from '../../../core/http/static-content.ts'

const FILE = new URL('../../../core/http/inter/inter-latin-wght-normal.woff2', import.meta.url)

/** Serves the font of the pages outside the console. Browsers keep it for a year: another version has another address. */
export function siteFont(): Middleware {
  const font = createStaticContent({ type: 'font/woff2', load: () => readFile(FILE), compress: false })
  return async (http, next) => {
    if (http.path !== FONT_ADDRESS) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    await font.send(http)
    http.set('Cache-Control', 'public, max-age=31536000, immutable')
  }
}

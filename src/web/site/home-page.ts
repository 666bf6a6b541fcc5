import type { Middleware } from 'koa'
import { notAllowed } from '../../core/errors/errors.ts'
import { sendPage, template } from '../../core/http/html-page.ts'

const homeTemplate = template(`<p>An open teleoperation hub. It is running.</p>
<p><a href="/dashboard">Open the console</a></p>
<p><a href="/api/docs">Read about the API</a></p>
<p><a href="/downloads">Install the command line and the SDK</a></p>`)

/** Serves `/`: a short description with links. */
export function homePage(): Middleware {
  return async (http, next) => {
    if (http.path !== '/') return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    sendPage(http, {
      status: 200,
      title: 'Wheelhouse',
      body: homeTemplate({}),
    })
  }
}

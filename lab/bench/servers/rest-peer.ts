import type { AddressInfo } from 'node:net'
import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import { sendReady } from '../../../test/support/processes/rpc.ts'

type Route = (http: Context) => Promise<void>

/** Starts the base of both peers of the REST measurements: Koa with its router and its body parser. */
export function serveRest(
  routes: Record<'listSessions' | 'listRobots' | 'startSession' | 'sendMessage', Route>,
) {
  const router = new Router()
  router.get('/api/sessions', routes.listSessions)
  router.get('/api/client/robots', routes.listRobots)
  router.post('/api/sessions', routes.startSession)
  router.post('/api/sessions/:id/messages', routes.sendMessage)
  const app = new Koa()
  app.use(bodyParser())
  app.use(router.routes())
  const server = app.listen(0, '127.0.0.1', () => sendReady((server.address() as AddressInfo).port))
}

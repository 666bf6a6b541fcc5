import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Gives dependency-cruiser a TypeScript with a parser. It imports `typescript` from the root, which is TypeScript 7:
 * a native compiler without the JavaScript API. The test of the generated client declares TypeScript 5 already.
 */
const fiveOfClientTest = createRequire(
  new URL('../../../test/support/openapi-client/package.json', import.meta.url),
)

registerHooks({
  resolve(specifier, context, next) {
    const wanted =
      /^typescript(?:\/|$)/.test(specifier) && context.parentURL?.includes('/dependency-cruiser/')
    if (!wanted) return next(specifier, context)
    return {
      url: pathToFileURL(fiveOfClientTest.resolve(specifier)).href,
      format: specifier.endsWith('.json') ? 'json' : 'commonjs',
      shortCircuit: true,
    }
  },
})

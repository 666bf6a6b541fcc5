import * as protocol from '@wheelhouse/protocol'
import { expect, expectTypeOf, test } from 'vitest'
import * as sdk from './index.ts'

test('the deprecated names of the sdk are aliases of the current ones', () => {
  expect(sdk.WatcherLink).toBe(sdk.ObserverLink)
  expect(sdk.isStanding).toBe(sdk.isHalted)
  expectTypeOf<sdk.WatcherLinkOptions>().toEqualTypeOf<sdk.ObserverLinkOptions>()
})

test('the deprecated names of the protocol are aliases of the current ones', () => {
  expect(protocol.WatcherFrame).toBe(protocol.ObserverFrame)
  expect(protocol.watcherFrameTypes).toBe(protocol.observerFrameTypes)
  expect(protocol.PressStop).toBe(protocol.RequestStop)
  expectTypeOf<protocol.WatcherFrame>().toEqualTypeOf<protocol.ObserverFrame>()
})

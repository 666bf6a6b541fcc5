import { createStore, type Store } from './store.ts'

/**
 * Creates a value that is stored in this browser, if the browser allows it.
 * @param parse reads what was stored
 * @param print writes it; by default as `String` does
 */
export function createPersisted<T>(
  key: string,
  fallback: T,
  parse: (text: string) => T,
  print: (value: T) => string = String,
): Store<T> {
  const store = createStore(fallback)
  try {
    const text = localStorage.getItem(key)
    if (text !== null) store.set(parse(text))
  } catch {
    // Without storage the default applies.
  }
  store.subscribe(() => {
    try {
      localStorage.setItem(key, print(store.get()))
    } catch {
      // Without storage the value lasts until the page closes.
    }
  })
  return store
}

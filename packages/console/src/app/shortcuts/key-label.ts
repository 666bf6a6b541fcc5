const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** Returns a key of a shortcut as keyboards name it, such as `Ctrl K` or `⌘ K`. */
export const keyLabel = (key: string): string =>
  key.startsWith('mod+') ? `${isApple ? '⌘' : 'Ctrl'} ${key.slice(4).toUpperCase()}` : key

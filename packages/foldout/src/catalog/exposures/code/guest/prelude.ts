/** The maximum length of a call's arguments, in characters. */
export const MOST_ARGUMENT_CHARACTERS = 1_000_000
/** The maximum length of a reported error's name or message, in characters. */
export const MOST_ERROR_CHARACTERS = 2_000

/**
 * Runs in a machine before any program. It builds the console, timers and calls from the four functions of the host, and keeps its
 * own references to built-ins, because programs may change them. It does not protect the host, which trusts nothing it receives
 * from here.
 */
export const PRELUDE = `(function (post, has, list, random) {
  'use strict'
  const { JSON, Map, Set, Error, TypeError, RangeError, Promise, Proxy, Reflect, String, globalThis } = this
  const { parse, stringify } = JSON
  const { create, defineProperty } = this.Object
  const { from } = this.Array
  const { apply, ownKeys, getOwnPropertyDescriptor } = Reflect
  const { slice } = String.prototype
  const pendingCalls = create(null)
  const pendingTimers = create(null)
  let lastId = 0
  let mostOutput = 0

  const cut = (text, length) => (text.length > length ? apply(slice, text, [0, length]) : text)

  const getText = (read, otherwise) => {
    try {
      return cut(String(read()), ${MOST_ERROR_CHARACTERS})
    } catch {
      return otherwise
    }
  }

  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'

  const getName = (thrown) => (isObject(thrown) ? getText(() => thrown.name ?? 'Error', 'Error') : 'Error')

  const getErrorMessage = (thrown) =>
    isObject(thrown)
      ? getText(() => thrown.message ?? thrown, 'Something was thrown that cannot be shown.')
      : getText(() => thrown, '')

  /** JSON for readers: values that JSON lacks are shown instead of dropped. */
  const shown = (value) => {
    let inside
    return stringify(value, function (key, inner) {
      while (inside !== undefined && inside.holder !== this) inside = inside.above
      if (typeof inner === 'bigint') return String(inner)
      if (typeof inner !== 'object' || inner === null) return inner
      for (let at = inside; at !== undefined; at = at.above) if (at.original === inner) return '[Circular]'
      if (inner instanceof Error) return getName(inner) + ': ' + getErrorMessage(inner)
      const holder = inner instanceof Map || inner instanceof Set ? from(inner) : inner
      inside = { holder, original: inner, above: inside }
      return holder
    })
  }

  const shownInLog = (value) => {
    if (typeof value === 'string') return value
    if (typeof value === 'function') return '[Function ' + getText(() => value.name, '') + ']'
    if (value instanceof Error) return getName(value) + ': ' + getErrorMessage(value)
    try {
      return shown(value) ?? String(value)
    } catch (thrown) {
      return '[cannot be shown: ' + getErrorMessage(thrown) + ']'
    }
  }

  const log = (level, values) => {
    let text = ''
    for (let i = 0; i < values.length; i++) text += (i > 0 ? ' ' : '') + shownInLog(values[i])
    post('log', level, cut(text, mostOutput), text.length)
  }

  const argumentsText = (name, values) => {
    if (values.length > 1) throw new TypeError(name + '() takes one object with the arguments, not ' + values.length + ' values.')
    const text = stringify(values[0] ?? {})
    if (text === undefined) throw new TypeError(name + '() takes an object with the arguments.')
    if (text.length > ${MOST_ARGUMENT_CHARACTERS}) {
      throw new RangeError('The arguments of ' + name + '() are ' + text.length + ' characters long as JSON; at most ${MOST_ARGUMENT_CHARACTERS} are allowed.')
    }
    return text
  }

  const getFunction = (name) => {
    const call = async (...values) => {
      const text = argumentsText(name, values)
      const id = ++lastId
      const { stack } = new Error()
      return await new Promise((resolve, reject) => {
        const refuse = (message) => reject(defineProperty(new Error(message), 'stack', { value: stack }))
        pendingCalls[id] = { resolve, refuse }
        const problem = post('call', id, name, text)
        if (problem === undefined) return
        delete pendingCalls[id]
        refuse(problem)
      })
    }
    defineProperty(call, 'name', { value: name, configurable: true })
    return call
  }

  /** An object whose functions are created on first use: there may be thousands. */
  const getNamespace = (server) => {
    const made = {}
    const fill = (key) => {
      if (typeof key !== 'string' || getOwnPropertyDescriptor(made, key) || !has(server + '.' + key)) return
      defineProperty(made, key, { value: getFunction(server + '.' + key), writable: true, enumerable: true, configurable: true })
    }
    return new Proxy(made, {
      get: (target, key) => (fill(key), target[key]),
      has: (target, key) => (fill(key), key in target),
      getOwnPropertyDescriptor: (target, key) => (fill(key), getOwnPropertyDescriptor(target, key)),
      ownKeys: (target) => {
        const names = parse(list(server))
        for (let i = 0; i < names.length; i++) fill(names[i])
        const keys = ownKeys(target)
        // In their declared order, not in the order of first use.
        return keys.length === names.length ? names : keys
      },
    })
  }

  const define = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true })

  const defineServer = (name) =>
    defineProperty(globalThis, name, {
      get: () => {
        const made = getNamespace(name)
        define(globalThis, name, made)
        return made
      },
      set: (value) => void define(globalThis, name, value),
      enumerable: false,
      configurable: true,
    })

  const console = {}
  const levels = ['log', 'info', 'warn', 'error', 'debug']
  for (let i = 0; i < levels.length; i++) console[levels[i]] = (...values) => log(levels[i], values)
  console.dir = console.table = console.log
  define(globalThis, 'console', console)

  // A snapshot would give every program the same numbers.
  define(this.Math, 'random', () => random())

  define(globalThis, 'setTimeout', (run, delay, ...values) => {
    if (typeof run !== 'function') throw new TypeError('setTimeout() takes a function.')
    const id = ++lastId
    const problem = post('timer', id, +delay || 0)
    if (problem !== undefined) throw new RangeError(problem)
    pendingTimers[id] = () => run(...values)
    return id
  })
  define(globalThis, 'clearTimeout', (id) => {
    if (typeof id !== 'number' || pendingTimers[id] === undefined) return
    delete pendingTimers[id]
    post('clear', id)
  })

  return {
    start(servers, tools, output) {
      mostOutput = output
      const serverNames = parse(servers)
      for (let i = 0; i < serverNames.length; i++) defineServer(serverNames[i])
      const toolNames = parse(tools)
      for (let i = 0; i < toolNames.length; i++) define(globalThis, toolNames[i], getFunction(toolNames[i]))
    },
    async finish(running, isScript) {
      try {
        let value = await running
        if (isScript) value = await value.value
        const text = shown(value)
        if (text === undefined) post('value')
        else post('value', cut(text, mostOutput), text.length)
      } catch (thrown) {
        post('thrown', getName(thrown), getErrorMessage(thrown), getText(() => (isObject(thrown) ? thrown.stack : ''), ''))
      }
    },
    settle(id, isOk, text) {
      const call = pendingCalls[id]
      delete pendingCalls[id]
      if (call === undefined) return
      if (isOk) call.resolve(text === '' ? undefined : parse(text))
      else call.refuse(text)
    },
    fire(id) {
      const run = pendingTimers[id]
      delete pendingTimers[id]
      try {
        run?.()
      } catch (thrown) {
        log('error', ['Uncaught in setTimeout():', thrown])
      }
    },
  }
})`

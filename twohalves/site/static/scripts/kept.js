/* The page's address, kept in step with its calculators.
 *
 * Browsers stop listening to a page that changes its address too often: Chromium after 200 changes
 * in ten seconds, Safari after 100 in thirty. A key that is held down makes more; the last numbers
 * must get there all the same.
 */
(function (T) {
  "use strict";

  const AT_ONCE = 40;
  const EACH_MS = 600; // once those are used up

  class Kept {
    /** `keys` are those of the page's calculators. */
    constructor(keys) {
      this.keys = keys;
      this.spare = AT_ONCE;
      this.since = performance.now();
      this.parts = this.read();
      window.addEventListener("pagehide", () => this.timer && this.put());
    }

    /** The parts that the address has; none where it is a heading's. */
    linked() {
      return T.readAddress(location.hash, this.keys);
    }

    /** The same; at a heading, what was set when the reader went there. */
    read() {
      const linked = this.linked();
      return isEmpty(linked) ? T.readAddress(history.state?.twoHalves || "", this.keys) : linked;
    }

    /** After a step to another address: whether that has numbers. At a heading they stay, and are kept aside. */
    follow() {
      const found = this.read();
      if (isEmpty(found)) this.replace(location.href, T.writeAddress(this.parts));
      else this.parts = found;
      return !isEmpty(found);
    }

    /** One calculator's part is this from now on. */
    write(key, part) {
      const parts = { ...this.parts, [key]: part };
      if (T.writeAddress(parts) === T.writeAddress(this.parts)) return; // an address of another kind stays
      this.parts = parts;
      const now = performance.now();
      this.spare = Math.min(AT_ONCE, this.spare + (now - this.since) / EACH_MS);
      this.since = now;
      if (this.spare >= 1) this.put();
      else this.timer ||= setTimeout(() => this.put(), EACH_MS);
    }

    put() {
      clearTimeout(this.timer);
      this.timer = 0;
      const without = isEmpty(this.linked()) ? location.href : location.pathname + location.search;
      this.replace(T.writeAddress(this.parts) || without, "");
    }

    replace(address, aside) {
      this.spare -= 1;
      try { history.replaceState({ ...history.state, twoHalves: aside }, "", address); } catch {
        return; // a browser that refuses takes only the link away
      }
    }
  }

  function isEmpty(parts) {
    return !Object.keys(parts).length;
  }

  Object.assign(T, { Kept });
})((globalThis.TwoHalves ||= {}));

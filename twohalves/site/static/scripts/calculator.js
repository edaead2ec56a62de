/* A calculator in a page: its state, and who is told when that changes. */
(function (T) {
  "use strict";

  const { tell } = T;
  const PAUSE_MS = 250; // once the reader has stopped, or a screen reader talks on and on

  class Calculator {
    /** `address` keeps a part of the page's address: {read(), write(part)}. */
    constructor(place, { name, key, spec, address }) {
      this.name = name;
      this.spec = spec;
      this.address = address;
      this.rates = JSON.parse(place.dataset.rates);
      this.begun = T.begin(spec, JSON.parse(place.dataset.start), this.rates);
      this.view = T.panel(`th-${key}`, this);
      place.replaceChildren(this.view.node);
      const part = address.read();
      this.begin(part || {});
      if (!part && !this.begun.notes.length) clearTimeout(this.timer); // nothing has changed yet
    }

    /** The values that the calculator began with, and over them what a link asks for. */
    begin(part) {
      const linked = T.withLinkedRates(part, this.rates);
      this.rates = linked.rates;
      const { asked, notes } = T.askedBy(linked.part, this.spec, this.rates);
      this.values = this.begun.values;
      this.sources = this.begun.sources;
      this.use(asked, { source: "the address of this page", others: [...this.begun.notes, ...linked.notes, ...notes] });
    }

    followAddress() {
      const part = this.address.read();
      if (part) this.begin(part);
    }

    /** What one input's row calls. */
    callsOf(input) {
      const { id } = input;
      return {
        say: (note) => this.say([note]),
        hold: () => { // gives a way back
          const { values, sources } = this;
          return () => {
            Object.assign(this, { values, sources });
            this.set({});
          };
        },
        half: (text) => { // half-typed numbers wait until the reader is done
          const { value, note } = T.take(input, text, this.values[id], this.rates);
          if (!note) this.set({ [id]: value });
        },
        take: (text, remark = "") => this.use({ [id]: text }, { remarks: { [id]: remark } })
      };
    }

    /** Takes what was asked for; what could not be used as it was is said beside its field. */
    use(asked, { source = "", remarks = {}, others = [] } = {}) {
      const taken = {};
      const notes = [...others];
      for (const input of this.spec.inputs) {
        const given = Object.hasOwn(asked, input.id) ? this.take(input, asked[input.id]) : { note: "" };
        const note = given.note || remarks[input.id] || "";
        this.view.note(input.id, note);
        if (note) notes.push(note);
        if ("value" in given) taken[input.id] = given.value;
      }
      tell(this.view.remark, others.join(" "));
      this.set(taken, source, notes);
    }

    take(input, text) {
      const { value, note } = T.take(input, text, this.values[input.id], this.rates);
      const unread = text === null; // something that the browser does not tell
      return { value, note: unread ? note.replace("nothing was entered", "that is not a number") : note };
    }

    /** Values that can be used; `source` says where from, empty is the reader's hand. */
    set(taken, source = "", notes = []) {
      const changed = Object.keys(taken).filter((id) => taken[id] !== this.values[id]);
      this.sources = { ...this.sources, ...Object.fromEntries(changed.map((id) => [id, source])) };
      this.values = { ...this.values, ...taken };
      this.show(notes);
      this.address.write(T.partOf(this.spec, this.values, this.begun.values, this.rates));
    }

    show(notes) {
      this.outcome = T.outcome(this.name, this.spec, this.values, this.rates);
      this.view.show(this);
      this.heard ||= this.outcome.notes; // at first nothing is news
      const news = this.outcome.notes.filter((note) => !this.heard.includes(note));
      this.say([...notes, ...news, this.outcome.sentence]);
    }

    say(texts) {
      clearTimeout(this.timer);
      tell(this.view.live, ""); // the same words again are said again
      this.timer = setTimeout(() => {
        this.heard = this.outcome.notes;
        tell(this.view.live, texts.join(" "));
      }, PAUSE_MS);
    }

    /** Offers the rates of a session.json that the reader picked, and uses them. */
    async pick(file) {
      this.picking = file;
      const { set, note } = await T.readPicked(file);
      if (this.picking !== file) return; // another one was picked meanwhile
      if (!set) {
        tell(this.view.picked, note);
        this.say([note]);
        return;
      }
      this.rates = [...this.rates.filter(({ id }) => id !== set.id), set];
      tell(this.view.picked, `Now chosen: ${set.label} (${set.source}).`);
      this.use({ rates: set.id }, { source: set.source });
    }

    save() {
      const file = `two-halves-${this.name.replaceAll("_", "-")}.csv`;
      T.save(file, T.asCsv(this.spec, this.values, this.rates, this.outcome));
      this.say([`Saved as ${file}.`]);
    }
  }

  Object.assign(T, { Calculator });
})((globalThis.TwoHalves ||= {}));

// Search of the site when it is read from a folder: browsers start no worker from a file, so the
// worker's script runs in a hidden frame instead. With a server, nothing here is used.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open(); // a new document, which the browser does not replace by an empty one
      inside.document.write("<!doctype html><body></body>");
      inside.document.close();
      inside.postMessage = (data) => this.receive(structuredClone(data));
      this.loaded = new Promise((resolve) => {
        const script = inside.document.createElement("script");
        script.onload = resolve;
        script.src = url;
        inside.document.body.appendChild(script);
      });
    }

    receive(data) {
      const message = new MessageEvent("message", { data });
      setTimeout(() => {
        this.dispatchEvent(message);
        this.onmessage?.(message);
      });
    }

    postMessage(data) {
      const message = new MessageEvent("message", { data: structuredClone(data) });
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(message));
    }

    terminate() {
      this.frame.remove();
    }
  };
}

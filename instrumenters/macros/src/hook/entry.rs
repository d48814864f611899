//! What runs when somebody looks: whom the call is about, and what may be looked into.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Signature;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::hook::call::Call;
use crate::hook::owner::Owner;
use crate::hook::plain;
use crate::hook::receiver;

/// The way into a call.
pub struct Entry<'a> {
    pub call: &'a Call<'a>,
    pub sig: &'a Signature,
    /// Whether the return type tells how the call went.
    pub tells: bool,
}

impl Entry<'_> {
    /// An expression: the guard.
    pub fn tokens(&self) -> TokenStream {
        let krate = self.call.krate;
        let subject = self.subject();
        let shown = self.shown();
        let caller = self
            .call
            .options
            .caller
            .map(|_| quote_spanned!(Span::mixed_site()=> let __caller = ::core::panic::Location::caller();));
        let enter = match shown {
            None => quote_spanned!(Span::mixed_site()=> #krate::__private::enter(__site, #subject)),
            Some(shown) => quote_spanned!(Span::mixed_site()=>
                #krate::__private::enter_with(__site, #subject, |__reify| { #shown })
            ),
        };
        // An early way out that says nothing is a `?`.
        match self.tells {
            false => quote_spanned!(Span::mixed_site()=> #caller #enter),
            true => quote_spanned!(Span::mixed_site()=>
                #caller
                let mut __entered = #enter;
                __entered.exit(#krate::__private::Outcome::Failed);
                __entered
            ),
        }
    }

    /// An expression: whom the call is about.
    pub fn subject(&self) -> TokenStream {
        let krate = self.call.krate;
        if let Some(subject) = &self.call.options.subject {
            // A subject that cannot be identified is pointed at.
            let at = Span::mixed_site().located_at(subject.span());
            let identity = quote_spanned!(at=> #krate::__private::Identify::identify(&(#subject)));
            return match plain::is_plain(subject) {
                true => identity,
                false => quote_spanned!(Span::mixed_site()=> #krate::__private::subject(|| #identity)),
            };
        }
        let Some(it) = self.receiver() else {
            return quote_spanned!(Span::mixed_site()=> #krate::__private::Subject::NONE);
        };
        let asked = quote_spanned!(Span::mixed_site()=>
            #[allow(unused_imports)]
            use #krate::__private::WithoutIdentity as _;
            #krate::__private::Who::<Self>(#it)
        );
        let by_value = self.sig.receiver().is_some_and(receiver::is_by_value);
        match self.call.owner {
            _ if by_value => quote_spanned!(Span::mixed_site()=> { #asked.subject_or_none() }),
            Owner::Static | Owner::Borrowing => quote_spanned!(Span::mixed_site()=> {
                static __METASPY_PLACE: #krate::__private::PlaceOf = #krate::__private::PlaceOf::new();
                #asked.subject_or(&__METASPY_PLACE)
            }),
            Owner::Generic | Owner::Nobody => quote_spanned!(Span::mixed_site()=> { #asked.subject_or_place() }),
        }
    }

    /// Statements that show the receiver and the arguments; `None` if there is nothing to show.
    fn shown(&self) -> Option<TokenStream> {
        let krate = self.call.krate;
        let receiver = self
            .receiver()
            .filter(|_| self.call.owner == Owner::Static)
            .map(|it| quote_spanned!(Span::mixed_site()=> __reify.receiver(#krate::__private::Who::<Self>(#it).0);));
        let args = self.call.options.args.iter().map(|argument| {
            let (name, value) = (argument.name.unraw().to_string(), &argument.value);
            // One that is not `Debug` is pointed at.
            let shown = quote_spanned!(Span::mixed_site().located_at(value.span())=> &(#value));
            quote_spanned!(Span::mixed_site()=> __reify.arg(#name, #shown);)
        });
        let caller =
            self.call.options.caller.map(
                |_| quote_spanned!(Span::mixed_site()=> __reify.arg("caller", &::core::format_args!("{__caller}"));),
            );
        let shown: TokenStream = receiver.into_iter().chain(args).chain(caller).collect();
        (!shown.is_empty()).then_some(shown)
    }

    fn receiver(&self) -> Option<TokenStream> {
        self.sig.receiver().map(receiver::reference)
    }
}
